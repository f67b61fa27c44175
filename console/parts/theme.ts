// One accent colour, compact sizes, figures of one width.
import { type CSSVariablesResolver, createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 9, dark: 7 },
  // The first one has Arabic letters alone, and is read only where some are shown.
  fontFamily: '"Billwright Arabic", system-ui, "Segoe UI", "Noto Sans", sans-serif',
  defaultRadius: 'sm',
  respectReducedMotion: true,
  headings: { fontWeight: '600' },
  components: {
    Table: { defaultProps: { verticalSpacing: 6, highlightOnHover: true } },
    Button: { defaultProps: { size: 'sm' } },
  },
});

const tones = ['indigo', 'red', 'teal', 'orange', 'blue', 'gray', 'green', 'yellow'] as const;

/** Coloured text with the contrast that WCAG asks for; the library's own has less. */
export const variables: CSSVariablesResolver = (own) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': own.colors.gray[7],
    '--mantine-color-placeholder': own.colors.gray[7],
    '--mantine-color-error': own.colors.red[9],
    ...Object.fromEntries(
      tones.flatMap((tone) => [
        [`--mantine-color-${tone}-light`, own.colors[tone][0]],
        [`--mantine-color-${tone}-light-hover`, own.colors[tone][1]],
        [`--mantine-color-${tone}-light-color`, own.colors[tone][9]],
      ]),
    ),
    // The darkest orange of the palette is too light.
    '--mantine-color-orange-light-color': '#8f2f00',
  },
  dark: {
    '--mantine-color-dimmed': own.colors.dark[1],
    '--mantine-color-placeholder': own.colors.dark[1],
    '--mantine-color-error': own.colors.red[4],
  },
});
