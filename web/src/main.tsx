import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { showPreferredLanguage } from "./shared/words/words.ts";
import "@fontsource-variable/figtree/wght.css";
import "./styles/base.css";
import "./styles/talk.css";
import "./styles/stage.css";
import "./styles/markdown.css";
import "./styles/panels.css";
import "./styles/forms.css";

const root = document.getElementById("root");
await showPreferredLanguage();
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
