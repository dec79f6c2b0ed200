"""Speaking to servers: what goes to one, in the version that it speaks, and what may come back."""
