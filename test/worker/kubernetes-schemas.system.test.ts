import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { runCommand } from "../support/processes/run-in-our-environment.ts";
import { goProgram } from "../support/go-modules.ts";
import { kubernetesSchemas, type Resource } from "./support/kubernetes-schemas.ts";

const FOLDER = join(import.meta.dirname, "../../deploy/kubernetes");
/** The oldest and the newest version that docs/kubernetes.md mentions. */
const VERSIONS = ["v1.30.0", "v1.37.2"];
/**
 * How long a first run may take: it builds kustomize and downloads the schemas, which takes about a minute on two
 * otherwise idle cores.
 */
const ONCE_MS = 300_000;

/** The resources that `kubectl apply -k` sends to the cluster. */
async function render(folder: string): Promise<readonly Resource[]> {
  const kustomize = await goProgram({ main: "sigs.k8s.io/kustomize/kustomize/v5", version: "v5.8.1" });
  const rendered = await runCommand(kustomize, ["build", join(FOLDER, folder)]);
  return parseAllDocuments(rendered).map((document) => document.toJS() as Resource);
}

const kinds = (resources: readonly Resource[]) => resources.map(({ kind }) => kind).toSorted();

/** A resource in the rendered example, with a text replaced. */
async function misspell(kind: string, text: string, wrong: string): Promise<Resource> {
  const found = (await render("example")).find((resource) => resource.kind === kind);
  const before = JSON.stringify(found);
  if (!before.includes(text)) throw new Error(`There is no ${text} in the ${kind}`);
  return JSON.parse(before.replace(text, wrong)) as Resource;
}

const CORE = ["ConfigMap", "Deployment", "Job", "NetworkPolicy", "NetworkPolicy", "PodDisruptionBudget", "Service"];

test(
  "the base runs without KEDA, and the example adds the scaled object, which sets the number of workers",
  { timeout: ONCE_MS },
  async () => {
    const base = await render("base");
    const example = await render("example");
    const replicas = (resources: readonly Resource[]) =>
      resources.filter(({ kind }) => kind === "Deployment").map(({ spec }) => (spec as { replicas?: number }).replicas);

    expect(kinds(base)).toEqual(CORE);
    expect(kinds(example)).toEqual([...CORE, "ScaledObject"].toSorted());
    expect([replicas(base), replicas(example)]).toEqual([[2], [undefined]]);
  },
);

describe.each(VERSIONS)("with the schemas of Kubernetes %s", (version) => {
  test.each(["base", "example"])(
    "each resource in the %s is valid, and has no unknown field",
    { timeout: ONCE_MS },
    async (folder) => {
      const validate = await kubernetesSchemas(version);

      const resources = await render(folder);

      expect(resources.flatMap(validate)).toEqual([]);
    },
  );

  test.each([
    ["Deployment", "terminationGracePeriodSeconds", "terminationGracePeriodSecond", "/spec/template/spec"],
    [
      "Deployment",
      "readOnlyRootFilesystem",
      "readOnlyRootFileSystem",
      "/spec/template/spec/containers/0/securityContext",
    ],
    ["NetworkPolicy", "podSelector", "podSelectors", "/spec"],
    [
      "ScaledObject",
      "stabilizationWindowSeconds",
      "stabilizationWindow",
      "/spec/advanced/horizontalPodAutoscalerConfig/behavior/scaleDown",
    ],
  ])("a misspelt field in a %s, %s, is reported", { timeout: ONCE_MS }, async (...[kind, text, wrong, path]) => {
    const validate = await kubernetesSchemas(version);

    const faults = validate(await misspell(kind, `"${text}"`, `"${wrong}"`));

    expect(faults.join("\n")).toMatch(new RegExp(`^${kind} \\S+: ${path}: unknown field "${wrong}"$`, "mu"));
  });

  test("a value of the wrong type is reported", { timeout: ONCE_MS }, async () => {
    const validate = await kubernetesSchemas(version);

    const faults = validate(await misspell("Service", '"port":', '"port":"80","was":'));

    expect(faults).toContainEqual(expect.stringMatching(/^Service \S+: \/spec\/ports\/0\/port: must be integer$/u));
  });
});
