import { resolve } from "node:path";
import { defineConfig } from "vite";
import { book, examples, offline, reportScript } from "./plugins.ts";

// Addresses are relative, so that the site can stand in any folder of any host.
export default defineConfig({
  base: "./",
  plugins: [book(), examples(), reportScript(), offline()],
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false, chunkSizeWarningLimit: 1000 },
  worker: { format: "es" },
  server: { fs: { allow: [resolve(import.meta.dirname, "..")] } },
});
