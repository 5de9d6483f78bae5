"""One call from what a client asks to what it is told: judged, recorded, sent, screened and answered."""
