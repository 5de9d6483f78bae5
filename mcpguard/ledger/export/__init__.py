"""The audit log in forms that other programs read. Each form is one small file; `formats` lists them."""
