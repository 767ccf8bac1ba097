# A release adds the digest (.ci/build-image).
ARG NODE_IMAGE=node:24-slim

# Compiles. The development dependencies stay in this stage.
FROM $NODE_IMAGE AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json bundle.mjs notices.mjs LICENSE ./
COPY src ./src
COPY migrations ./migrations
# The image runs under any user id, whatever the umask of the checkout was.
ARG REVISION=unknown
RUN npm run build && chmod -R a+rX dist migrations package.json LICENSE

# Only production dependencies. The embedded Postgres is optional and not included: a container's database is elsewhere.
FROM $NODE_IMAGE AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && chmod -R a+rX node_modules

FROM $NODE_IMAGE
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="simcat" \
      org.opencontainers.image.description="Keeps a Postgres copy of a Simulation Cloud organization: libraries, metadata, scenarios" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/node:24-slim"
# By itself, Node 24 gives the young generation of its heap 1 MB in a container of 512 MiB, where a backfill takes a fifth more processor
# time, and 64 MB on a large machine, where it takes 100 MB more memory.
# Probes and scrapers connect from outside the container, where its loopback address is not reachable. The operator decides
# whether to publish the port, and no route changes anything.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=8 \
    SIMCAT_HTTP_HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/migrations ./migrations
COPY --from=build /app/dist ./dist
# A number, so that Kubernetes can verify that it is not root. Any other number works too, because nothing is written to disk.
USER 1000
# The default of SIMCAT_HTTP_PORT: /healthz, /readyz, /metrics and the status page.
EXPOSE 9464
STOPSIGNAL SIGTERM
# Only `start` listens. A one-off command (docker run IMAGE backfill) may be shown as unhealthy while it runs. This has no
# consequences, and its exit code reports the result.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SIMCAT_HTTP_PORT || 9464}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["start"]
