"""Access to bytes: files and URLs, listings and globs, compression, archives, context documents."""
