import { defineConfig } from "parley";

export default defineConfig({
  instructions:
    "You are a helpful assistant in a voice call. Answer in short spoken sentences, without lists or markup.",
});
