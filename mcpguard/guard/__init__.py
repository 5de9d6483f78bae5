"""The use cases: the only place where decisions are carried out. Doors reach everything else through here."""
