"""The three services. They never import each other; what they share is in `shared`."""
