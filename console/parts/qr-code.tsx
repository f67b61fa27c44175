// A text as a code that a phone scans.
import { useQuery } from '@tanstack/react-query';

/** Black on white also in the dark: scanners need it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data } = useQuery({
    queryKey: ['qr', text],
    queryFn: async () => {
      const library = await import('qrcode');
      return library.toString(text, { type: 'svg', margin: 4 });
    },
    staleTime: Number.POSITIVE_INFINITY,
    // A code may hold a secret: it is forgotten when it is not shown any more.
    gcTime: 0,
  });
  if (!data) return null;
  return (
    <img
      src={`data:image/svg+xml;utf8,${encodeURIComponent(data)}`}
      alt={label}
      width={180}
      height={180}
    />
  );
}
