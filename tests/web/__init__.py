"""The doors, without sockets: what they let in and what they answer."""
