"""Messages on their way in and out."""
