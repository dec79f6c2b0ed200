"""What has changed or ended, on its way to who has an open stream."""
