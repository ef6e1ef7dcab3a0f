"""A Jelly gRPC server: topics to which clients subscribe and publish.

`requests` determines the options of a response. `topics` finds the log of a topic, `following`
reads it while it grows, `feeds` encodes it for several subscribers at once, and `publishing`
appends to it. `service` answers the calls, and `server` runs it.
"""
