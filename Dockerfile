# An image with the command rdfm, from the wheel that `make wheel` writes to dist:
#   docker build --tag rdfm .
#   docker run --rm --volume "$PWD:/data" rdfm convert log.jelly log.nq
# EXTRAS adds optional packages: --build-arg EXTRAS='[grpc]'
FROM python:3.14-slim

ARG EXTRAS=""
RUN --mount=type=bind,source=dist,target=/dist \
    pip install --no-cache-dir "$(echo /dist/rdfm-*.whl)${EXTRAS}" \
    && useradd --uid 1000 --create-home rdfm

USER 1000
WORKDIR /data
ENTRYPOINT ["rdfm"]
CMD ["--help"]
