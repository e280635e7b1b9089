import { readFile } from "node:fs/promises";
import { Ajv, type ErrorObject } from "ajv";
import { parse } from "yaml";
import { goModuleFile } from "../../support/go-modules.ts";

const KEDA = { module: "github.com/kedacore/keda/v2", version: "v2.21.0" };

type Schema = Readonly<Record<string, unknown>>;

export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Returns a resource's errors, each with the path of the field. */
export type Validate = (resource: Resource) => readonly string[];

/**
 * Returns a function that validates resources of one version of Kubernetes, and KEDA's ScaledObject. The schemas are
 * the OpenAPI document in the source of Kubernetes, and KEDA's CRD. A field that a schema lacks is an error, as in the
 * API server's strict validation.
 */
export async function kubernetesSchemas(version: string): Promise<Validate> {
  const path = await goModuleFile({ module: "k8s.io/kubernetes", version, path: "api/openapi-spec/swagger.json" });
  const { definitions } = JSON.parse(await readFile(path, "utf8")) as { definitions: Record<string, Schema> };
  const crdPath = await goModuleFile({ ...KEDA, path: "config/crd/bases/keda.sh_scaledobjects.yaml" });
  const crd = parse(await readFile(crdPath, "utf8")) as Crd;
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(closeObjects({ $id: "/kubernetes", definitions: { ...definitions, ...LENIENT } }) as Schema);
  const pointers = new Map<string, string>();
  for (const [name, schema] of Object.entries(definitions))
    for (const kind of (schema["x-kubernetes-group-version-kind"] ?? []) as Kind[])
      pointers.set(idOf(kind), `/kubernetes#/definitions/${name}`);
  for (const { name, schema } of crd.spec.versions) {
    const id = idOf({ group: crd.spec.group, version: name, kind: crd.spec.names.kind });
    // A CRD leaves the metadata to the API server, which uses one schema for all kinds.
    const properties = { ...(schema.openAPIV3Schema["properties"] as Schema), metadata: { $ref: OBJECT_META } };
    ajv.addSchema(closeObjects({ ...schema.openAPIV3Schema, properties, $id: id }) as Schema);
    pointers.set(id, id);
  }
  return (resource) => {
    const pointer = pointers.get(`${resource.apiVersion}/${resource.kind}`);
    const validate = pointer === undefined ? undefined : ajv.getSchema(pointer);
    if (!validate) return [`${resource.kind}: no schema for ${resource.apiVersion}`];
    return validate(resource) === true ? [] : (validate.errors ?? []).map((error) => describe(resource, error));
  };
}

/** Types that the OpenAPI document declares as strings, but for which the API server also accepts numbers. */
const LENIENT = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: ["string", "number"] },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { type: ["string", "integer"] },
};

const OBJECT_META = "/kubernetes#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const idOf = ({ group, version, kind }: Kind) => [...(group === "" ? [] : [group]), version, kind].join("/");

/** Returns the schema with a change: objects may contain only the fields that it lists. */
function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closeObjects(value)]));
  const isOpen = "additionalProperties" in schema || "x-kubernetes-preserve-unknown-fields" in schema;
  // In a list of fields, "properties" may be the name of a field, so the type is checked as well.
  const isObject = "properties" in schema && (schema as Schema)["type"] === "object";
  return isObject && !isOpen ? { ...inner, additionalProperties: false } : inner;
}

function describe({ kind, metadata }: Resource, { instancePath, message, params }: ErrorObject): string {
  const field = (params as { additionalProperty?: string }).additionalProperty;
  const what = field === undefined ? message : `unknown field "${field}"`;
  return `${kind} ${metadata.name}: ${instancePath === "" ? "/" : instancePath}: ${what}`;
}
