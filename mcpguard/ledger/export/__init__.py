"""The ledger in forms that others read. A form is one small file; `formats` names them all."""
