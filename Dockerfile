# The worker and its HTTP server (`npm run worker`). LiveKit, PostgreSQL and the model are elsewhere: docs/operating.md.
FROM node:24-slim

# LiveKit's native client checks TLS certificates against the system's. espeak-ng is the voice when no other is chosen.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates espeak-ng \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /app
ENV NODE_ENV=production

COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force

COPY parley.config.ts ./
COPY tools ./tools
COPY src ./src

USER node
EXPOSE 8080 8082
STOPSIGNAL SIGTERM
CMD ["node", "src/worker/main.ts", "--worker-only"]
