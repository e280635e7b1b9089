import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { IssuedContent } from "../../src/model-server/issued-content.ts";
import type { Json } from "../../src/model-server/step.ts";
import { validateRequest } from "../../src/model-server/validate-request.ts";

export interface RequestChecker extends AsyncDisposable {
  readonly url: string;
  /** Why the API would have refused requests: one reason for each such request, in order. */
  readonly rejections: string[];
  requestCount: number;
}

/**
 * Starts a proxy for another model server that passes everything on, and checks each request against the API's rules.
 */
export async function startRequestChecker(target: string): Promise<RequestChecker> {
  const server = createServer((incoming, outgoing) => {
    void buffer(incoming).then((body) => {
      checker.requestCount += 1;
      const rejection = validateRequest(JSON.parse(body.toString()) as Json, new IssuedContent());
      if (rejection !== undefined) checker.rejections.push(rejection);
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
  const checker: RequestChecker = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rejections: [],
    requestCount: 0,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return checker;
}
