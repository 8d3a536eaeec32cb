# The program with GDAL of the distribution. `docker build -t mappale .`, then `docker compose up`.
FROM node:22-bookworm-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends build-essential libgdal-dev make python3 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts \
 && cd node_modules/gdal-async \
 && npx --no-install node-pre-gyp install --build-from-source --shared_gdal=true --nodedir=/usr/local \
 && rm -rf build deps
COPY tsconfig.json tsconfig-build.json ./
COPY api api
COPY pipelines pipelines
COPY scripts/build scripts/build
COPY sources sources
COPY sql sql
# GDAL's binding is an optional peer, which pruning removes: it is kept aside with the packages that it loads.
RUN npm run --silent build \
 && mv node_modules/gdal-async /tmp/gdal-async \
 && npm prune --ignore-scripts --omit=dev \
 && mv /tmp/gdal-async node_modules/gdal-async

FROM node:22-bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends libgdal32 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY package.json LICENSE README.md third-party-notices.txt ./
COPY --from=build /app/dist dist
USER node
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/api/v2/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/pipelines/mappale.mjs"]
CMD ["serve", "--host", "0.0.0.0"]
