"""The containers: brought up as a user would, used from outside, and looked at from inside."""
