"""The table of rules that inspection and screening know, which is data (`rules.txt`), and how it is read."""
