// What the page knows before a login.
import { queryOptions } from '@tanstack/react-query';

export type Entry = {
  workspace: string;
  /** The login of the demo, while the server still has it. */
  demo: { username: string; password: string } | null;
};

export const entryQuery = queryOptions({
  queryKey: ['entry'],
  queryFn: async (): Promise<Entry> => {
    const response = await fetch('/console/entry.json');
    return response.json();
  },
  staleTime: Number.POSITIVE_INFINITY,
});
