/** Selects the default theme of VitePress without its fonts. */
export { default } from 'vitepress/theme-without-fonts';
