import { credentials, loadPackageDefinition, Metadata, type Client, type ServiceError } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

type GrpcClient = Client & {
  readonly respondToPermission: (
    request: object,
    metadata: Metadata,
    done: (error: ServiceError | null) => void,
  ) => void;
};

/** Calls `RespondToPermission` over plain gRPC, as a client that knows only the proto file. */
export async function respondOverGrpc(
  port: number,
  request: object,
  token: string | undefined,
): Promise<"ok" | { readonly code: number; readonly message: string }> {
  const definition = loadPackageDefinition(loadSync("proto/opencode/tool.proto")) as unknown as {
    opencode: { tool: { PermissionService: new (address: string, with_: unknown) => GrpcClient } };
  };
  const client = new definition.opencode.tool.PermissionService(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  const error = await new Promise<ServiceError | null>((done) => client.respondToPermission(request, metadata, done));
  client.close();
  // grpc-js leaves a message's reserved characters percent-encoded.
  return error ? { code: error.code, message: decodeURIComponent(error.details) } : "ok";
}
