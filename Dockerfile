# Builds an image with the npm package of this checkout and Node. The image reads vector files with gdal3.js, because GDAL would add
# 190 MB. Run `docker build -t mappale .`, then `docker compose up`.
# Data is in the volume /srv/mappale. The rest of the file system can be read-only: `docker run --read-only --tmpfs /tmp`.
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig-build.json LICENSE README.md third-party-notices.txt ./
COPY api api
COPY cli cli
COPY pipelines pipelines
COPY scripts/build scripts/build
COPY sources sources
COPY sql sql
RUN npm pack --pack-destination /tmp \
 && npm install --global --prefix /opt/mappale --omit=dev --omit=optional --ignore-scripts /tmp/mappale-*.tgz \
 && find /opt/mappale -type f \( -name '*.map' -o -name '*.d.*ts' \) -delete
# Removes the tests, TypeScript files and Markdown files (except licences) of npm packages, because Node never loads these files.
RUN find /opt/mappale/lib/node_modules/mappale/node_modules \
      \( -type d \( -name test -o -name tests \) -o -type f \( -name '*.ts' -o -name '*.md' ! -iname 'licen[cs]e*' \) \) -prune -exec rm -rf {} +

FROM node:22-bookworm-slim
ENV PATH=/opt/mappale/bin:$PATH MAPPALE_HOME=/srv/mappale
COPY --from=build /opt/mappale /opt/mappale
RUN install --directory --owner=node --group=node /srv/mappale
USER node
WORKDIR /srv/mappale
VOLUME /srv/mappale
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "/opt/mappale/lib/node_modules/mappale/dist/pipelines/operate/health-check.js"]
ENTRYPOINT ["mappale"]
CMD ["serve", "--host", "0.0.0.0"]
