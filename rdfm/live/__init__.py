"""A server for logs, over Jelly gRPC and HTTP.

`server` runs the protocols, with what they share: `topics` finds the log of a topic, `following`
reads it while it grows, `feeds` encodes it for several subscribers at once, and `access`, `calls`,
`events`, `metrics` and `tls` have one duty each.

gRPC: `requests` determines the options of a response, and `publishing` appends to a log. `service`
answers the calls, and `grpc_server` listens.

HTTP: `snapshot` is a log as it was when a response began, `offers` selects its form, and
`documents` creates its bytes. `event_stream` encodes messages as events, and `web_events` sends
them. `web_app` answers the requests, and `web_server` listens.
"""
