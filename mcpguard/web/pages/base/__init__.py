"""The parts that every page is made of."""
