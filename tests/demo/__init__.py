"""The servers that come with the product, by themselves and behind a guard."""
