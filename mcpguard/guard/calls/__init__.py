"""How one call is handled: it is judged, recorded, sent, its response screened, and the client answered."""
