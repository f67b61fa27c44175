// For tests: every statement that is sent, as its text.

let watcher: ((text: string) => void) | undefined;

export function watchStatements(hear: (text: string) => void): void {
  watcher = hear;
}

export function noteStatement(text: string): void {
  watcher?.(text);
}
