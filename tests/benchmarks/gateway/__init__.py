"""What a call costs that goes through a gateway: mcpguard's and others', side by side with no gateway at all."""
