"""One file for each endpoint or page of OAuth."""
