//! What a Jelly decoder accepts, refuses and promises; logs made by hand.
