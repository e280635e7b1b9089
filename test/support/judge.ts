import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { IssuedContent } from "../../src/model-server/issued-content.ts";
import type { Json } from "../../src/model-server/step.ts";
import { validateRequest } from "../../src/model-server/validate-request.ts";

export interface Judge extends AsyncDisposable {
  readonly url: string;
  /** The reasons for which the API would have refused requests, in order. */
  readonly verdicts: string[];
  requestCount: number;
}

/**
 * Starts a proxy for another model server that passes everything on, and checks each request against the API's rules.
 */
export async function startJudge(target: string): Promise<Judge> {
  const server = createServer((incoming, outgoing) => {
    void buffer(incoming).then((body) => {
      judge.requestCount += 1;
      const verdict = validateRequest(JSON.parse(body.toString()) as Json, new IssuedContent());
      if (verdict !== undefined) judge.verdicts.push(verdict);
      const passed = forward(target + (incoming.url ?? ""), { method: incoming.method, headers: incoming.headers });
      passed.on("response", (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.on("error", () => outgoing.destroy());
        response.pipe(outgoing);
      });
      passed.on("error", () => outgoing.destroy());
      passed.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const judge: Judge = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    verdicts: [],
    requestCount: 0,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return judge;
}
