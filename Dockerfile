# docker build -t wardround . && docker run --rm -v "$PWD/work:/work" wardround demo
# the tests: docker run --rm --entrypoint make wardround -C /wardround test
# Nobody has built it yet: no builder was at hand.
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends make git && rm -rf /var/lib/apt/lists/*
WORKDIR /wardround
COPY . .
# the set-up of `make demo`, the desk and the figures; the demo itself runs when the container does
RUN make .venv/.demo && .venv/bin/pip install --no-cache-dir --constraint constraints.txt '.[desk,figures,literature]'
ENV PATH=/wardround/.venv/bin:$PATH
WORKDIR /work
ENTRYPOINT ["wardround"]
CMD ["--help"]
