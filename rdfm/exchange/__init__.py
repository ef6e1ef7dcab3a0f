"""Exchange of logs with other services and archives."""
