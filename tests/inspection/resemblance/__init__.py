"""How texts are compared with published attacks."""
