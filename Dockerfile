# ir-opt and its tools on Debian:  docker build -t ir-opt . && docker run --rm -v "$PWD:/work" ir-opt -O3 in.onnx -o out.onnx
FROM debian:12 AS build
WORKDIR /src
COPY . .
RUN scripts/package.sh

FROM debian:12-slim
COPY --from=build /src/packages/ir-opt_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/ir-opt_*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["ir-opt"]
