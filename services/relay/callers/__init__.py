"""Who calls, how, and in which session."""
