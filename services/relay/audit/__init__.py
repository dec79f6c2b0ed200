"""The audit trail of the relay."""
