declare module "virtual:examples" {
  const examples: { name: string; group: string; title: string; learn: string; text: string }[];
  export default examples;
}

declare module "*/report/html/player.js" {
  /** A run that can be stepped through. */
  export interface Player {
    at: number;
    last: number;
    visible: boolean;
    inView: boolean;
    root: HTMLElement;
    show(at: number): void;
  }
  /** Makes the runs of an answer ready to be stepped through. */
  export function enliven(answer: Element): Player[];
  /** Where a key leads, or nothing. */
  export function target(player: Player, event: KeyboardEvent): number | undefined;
}

declare module "*/wasm/fencewright.js" {
  export function initSync(from: { module: WebAssembly.Module }): unknown;
  export function answer(request: string): string;
}
