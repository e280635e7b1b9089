import { defineConfig } from "parley";

// Tools are files in tools/. Additional agents are files in agents/, each with defineAgent.
export default defineConfig({
  instructions:
    "You are a helpful assistant in a voice call. Answer in short spoken sentences, without lists or markup.",
});
