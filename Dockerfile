# A static program, alone in an image, run by a user without rights:
#
#     docker build -t masque .
#     docker run --rm -v "$PWD:/models:ro" masque check /models/model.ispl
FROM rust:1.91-alpine AS build
RUN apk add --no-cache build-base
WORKDIR /source
COPY . .
RUN cargo build --release --locked -p masque-cli \
 && mkdir -p /image/models /image/tmp \
 && chmod 1777 /image/tmp \
 && cp target/release/masque LICENSE-MIT LICENSE-APACHE /image/

FROM scratch
COPY --from=build /image/ /
USER 65532:65532
WORKDIR /models
ENTRYPOINT ["/masque"]
CMD ["--help"]
