//! What is legal and suspicious.
