// @vitest-environment happy-dom
import { ParleyProvider } from "@parley/react";
import { act } from "@testing-library/react";
import { StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, onTestFinished, test } from "vitest";
import { MemoryRoom } from "../../support/doubles/memory-transport.ts";
import { Agent, Calls, Forms, Questions, Spent } from "./readme-example.tsx";
import { HTTP, answerFetch } from "./worker-http.ts";

test("the browser hydrates server-rendered HTML unchanged, with each hook", async () => {
  answerFetch({});
  const page = (
    <StrictMode>
      <ParleyProvider room={new MemoryRoom().transport} http={HTTP}>
        <Agent />
        <Calls />
        <Questions />
        <Forms />
        <Spent />
      </ParleyProvider>
    </StrictMode>
  );
  const place = document.createElement("div");
  place.innerHTML = renderToString(page);
  const drawn = place.textContent;
  const errors: unknown[] = [];

  const root = await act(async () => hydrateRoot(place, page, { onRecoverableError: (error) => errors.push(error) }));
  onTestFinished(() => act(async () => root.unmount()));

  expect(drawn).toContain("The agent: ");
  expect(errors).toEqual([]);
});
