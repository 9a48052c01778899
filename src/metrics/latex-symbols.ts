/**
 * What LaTeX macros become in plain text: the symbol table of pylatexenc 3.0a30, through which the official text normalisation sends
 * inline formulas. Data only: names and the characters they stand for. It refuses to know how LaTeX is read.
 */

/** Macro name to its text, for macros that stand for a symbol or a word. */
export const SYMBOL_TEXT: ReadonlyMap<string, string> = new Map([
  ["$", "$"],
  ["{", "{"],
  ["lbrace", "{"],
  ["textdollar", "$"],
  ["backslash", "\\"],
  ["textbackslash", "\\"],
  ["textasciigrave", "`"],
  ["limsup", "lim sup"],
  ["liminf", "lim inf"],
  [",", " "],
  [";", " "],
  [":", " "],
  [" ", " "],
  ["!", ""],
  ["%", "%"],
  ["quad", "  "],
  ["qquad", "    "],
  ["enskip", "\u2002"],
  ["hspace", ""],
  ["vspace", "\n"],
  ["\\", "\n"],
  ...pairs(`
oe œ  OE Œ  ae æ  AE Æ  aa å  AA Å  o ø  O Ø  ss ß  L Ł  l ł  i ı  j ȷ  & &  } }  rbrace }  # #  _ _  textquoteleft ‘
textquoteright ’  textquotedblright ”  textquotedblleft “  textendash –  textemdash —  textpm ±  pm ±  textmp ∓  mp ∓
texteuro €  hbar ħ  ell ℓ  forall ∀  complement ∁  partial ∂  exists ∃  nexists ∄  varnothing ∅  emptyset ∅  aleph ℵ  nabla ∇
in ∈  notin ∉  ni ∋  prod ∏  coprod ∐  sum ∑  setminus ∖  smallsetminus ∖  ast ∗  circ ∘  bullet ∙  propto ∝  infty ∞
parallel ∥  nparallel ∦  wedge ∧  vee ∨  cap ∩  cup ∪  int ∫  iint ∬  iiint ∭  oint ∮  sim ∼  backsim ∽  simeq ≃  approx ≈
neq ≠  equiv ≡  le ≤  leq ≤  ge ≥  geq ≥  leqslant ⩽  geqslant ⩾  leqq ≦  geqq ≧  lneqq ≨  gneqq ≩  ll ≪  gg ≫  nless ≮  ngtr ≯
nleq ≰  ngeq ≱  lesssim ≲  lessequivlnt ≲  gtrsim ≳  greaterequivlnt ≳  lessgtr ≶  gtrless ≷  prec ≺  succ ≻  preceq ≼
preccurlyeq ≼  succeq ≽  succcurlyeq ≽  precsim ≾  succsim ≿  nprec ⊀  nsucc ⊁  subset ⊂  supset ⊃  subseteq ⊆  supseteq ⊇
nsubseteq ⊈  nsupseteq ⊉  subsetneq ⊊  supsetneq ⊋  cdot ·  times ×  texttimes ×  otimes ⊗  bigotimes ⊗  oplus ⊕  bigoplus ⊕
cos cos  sin sin  tan tan  arccos arccos  arcsin arcsin  arctan arctan  cosh cosh  sinh sinh  tanh tanh  arccosh arccosh
arcsinh arcsinh  arctanh arctanh  ln ln  log log  exp exp  max max  min min  sup sup  inf inf  lim lim  prime '
textquotesingle '  dag †  dagger †  textdagger †  ldots …  dots …  dotsc …  dotsb …  dotsm …  dotsi …  dotso …  textellipsis …
cdots ⋯  ddots ⋱  downslopeellipsis ⋱  iddots ⋰  udots ⋰  upslopeellipsis ⋰  vdots ⋮  langle ⟨  rangle ⟩  lvert |  rvert |
vert |  mid |  lVert ‖  rVert ‖  Vert ‖  nmid ∤  uparrow ↑  textuparrow ↑  downarrow ↓  textdownarrow ↓  rightarrow →  to →
textrightarrow →  leftarrow ←  textleftarrow ←  longrightarrow ⟶  longleftarrow ⟵  alpha α  upalpha α  Alpha Α  Upalpha Α
beta β  upbeta β  Beta Β  Upbeta Β  gamma γ  upgamma γ  Gamma Γ  Upgamma Γ  delta δ  updelta δ  Delta Δ  Updelta Δ  epsilon ϵ
upepsilon ϵ  Epsilon Ε  Upepsilon Ε  zeta ζ  upzeta ζ  Zeta Ζ  Upzeta Ζ  eta η  upeta η  Eta Η  Upeta Η  theta θ  uptheta θ
texttheta θ  Theta Θ  Uptheta Θ  iota ι  upiota ι  Iota Ι  Upiota Ι  kappa κ  upkappa κ  Kappa Κ  Upkappa Κ  lambda λ
uplambda λ  Lambda Λ  Uplambda Λ  mu μ  upmu μ  Mu Μ  Upmu Μ  nu ν  upnu ν  Nu Ν  Upnu Ν  xi ξ  upxi ξ  Xi Ξ  Upxi Ξ  omicron ο
upomicron ο  Omicron Ο  Upomicron Ο  pi π  uppi π  Pi Π  Uppi Π  rho ρ  uprho ρ  Rho Ρ  Uprho Ρ  sigma σ  upsigma σ  Sigma Σ
Upsigma Σ  tau τ  uptau τ  Tau Τ  Uptau Τ  upsilon υ  upupsilon υ  Upsilon Υ  Upupsilon Υ  phi ϕ  upphi ϕ  Phi Φ  Upphi Φ  chi χ
upchi χ  Chi Χ  Upchi Χ  psi ψ  uppsi ψ  Psi Ψ  Uppsi Ψ  omega ω  upomega ω  Omega Ω  Upomega Ω  varepsilon ε  upvarepsilon ε
vartheta ϑ  upvartheta ϑ  textvartheta ϑ  varpi ϖ  upvarpi ϖ  varrho ϱ  upvarrho ϱ  varsigma ς  upvarsigma ς  varphi φ
upvarphi φ  ref <ref>  autoref <ref>  cref <ref>  Cref <Ref>  eqref (<ref>)  cite <cit.>  citet <cit.>  citep <cit.>
textasciicircum ˆ  textasciitilde ~  textexclamdown ¡  textcent ¢  textsterling £  textcurrency ¤  textyen ¥  textbrokenbar ¦
textsection §  textasciidieresis ¨  textcopyright ©  textordfeminine ª  guillemotleft «  textlnot ¬  lnot ¬  - ­
textregistered ®  textasciimacron ¯  textdegree °  texttwosuperior ²  textthreesuperior ³  textasciiacute ´  textmu µ
textparagraph ¶  textperiodcentered ˙  textonesuperior ¹  textordmasculine º  guillemotright »  textonequarter ¼  textonehalf ½
textthreequarters ¾  textquestiondown ¿  DH Ð  TH Þ  dh ð  textdiv ÷  div ÷  th þ  DJ Đ  dj đ  IJ Ĳ  ij ĳ  NG Ŋ  ng ŋ
textflorin ƒ  texthvlig ƕ  textnrleg ƞ  textschwa ə  textphi ɸ  textglotstop ʔ  textturnk ʞ  textasciicaron ˇ  textasciibreve ˘
textacutedbl ˝  varkappa ϰ  backepsilon ϶  CYRYO Ё  CYRDJE Ђ  CYRIE Є  CYRDZE Ѕ  CYRII І  CYRYI Ї  CYRJE Ј  CYRLJE Љ  CYRNJE Њ
CYRTSHE Ћ  CYRUSHRT Ў  CYRDZHE Џ  CYRA А  CYRB Б  CYRV В  CYRG Г  CYRD Д  CYRE Е  CYRZH Ж  CYRZ З  CYRI И  CYRISHRT Й  CYRK К
CYRL Л  CYRM М  CYRN Н  CYRO О  CYRP П  CYRR Р  CYRS С  CYRT Т  CYRU У  CYRF Ф  CYRH Х  CYRC Ц  CYRCH Ч  CYRSH Ш  CYRSHCH Щ
CYRHRDSN Ъ  CYRERY Ы  CYRSFTSN Ь  CYREREV Э  CYRYU Ю  CYRYA Я  cyra а  cyrb б  cyrv в  cyrg г  cyrd д  cyre е  cyrzh ж  cyrz з
cyri и  cyrishrt й  cyrk к  cyrl л  cyrm м  cyrn н  cyro о  cyrp п  cyrr р  cyrs с  cyrt т  cyru у  cyrf ф  cyrh х  cyrc ц
cyrch ч  cyrsh ш  cyrshch щ  cyrhrdsn ъ  cyrery ы  cyrsftsn ь  cyrerev э  cyryu ю  cyrya я  cyryo ё  cyrdje ђ  cyrie є  cyrdze ѕ
cyrii і  cyryi ї  cyrje ј  cyrlje љ  cyrnje њ  cyrtshe ћ  cyrushrt ў  cyrdzhe џ  CYRYAT Ѣ  cyryat ѣ  CYRBYUS Ѫ  cyrbyus ѫ
CYRFITA Ѳ  cyrfita ѳ  CYRIZH Ѵ  cyrizh ѵ  CYRSEMISFTSN Ҍ  cyrsemisftsn ҍ  CYRRTICK Ҏ  cyrrtick ҏ  CYRGUP Ґ  cyrgup ґ  CYRGHCRS Ғ
cyrghcrs ғ  CYRGHK Ҕ  cyrghk ҕ  CYRZHDSC Җ  cyrzhdsc җ  CYRZDSC Ҙ  cyrzdsc ҙ  CYRKDSC Қ  cyrkdsc қ  CYRKVCRS Ҝ  cyrkvcrs ҝ
CYRKHCRS Ҟ  cyrkhcrs ҟ  CYRKBEAK Ҡ  cyrkbeak ҡ  CYRNDSC Ң  cyrndsc ң  CYRNG Ҥ  cyrng ҥ  CYRPHK Ҧ  cyrphk ҧ  CYRABHHA Ҩ
cyrabhha ҩ  CYRSDSC Ҫ  cyrsdsc ҫ  CYRTDSC Ҭ  cyrtdsc ҭ  CYRY Ү  cyry ү  CYRYHCRS Ұ  cyryhcrs ұ  CYRHDSC Ҳ  cyrhdsc ҳ  CYRTETSE Ҵ
cyrtetse ҵ  CYRCHRDSC Ҷ  cyrchrdsc ҷ  CYRCHVCRS Ҹ  cyrchvcrs ҹ  CYRSHHA Һ  cyrshha һ  CYRABHCH Ҽ  cyrabhch ҽ  CYRABHCHDSC Ҿ
cyrabhchdsc ҿ  CYRpalochka Ӏ  CYRKHK Ӄ  cyrkhk ӄ  CYRLDSC Ӆ  cyrldsc ӆ  CYRNHK Ӈ  cyrnhk ӈ  CYRCHLDSC Ӌ  cyrchldsc ӌ  CYRMDSC Ӎ
cyrmdsc ӎ  CYRAE Ӕ  cyrae ӕ  CYRSCHWA Ә  cyrschwa ә  CYRABHDZE Ӡ  cyrabhdze ӡ  CYROTLD Ө  cyrotld ө  CYRGDSC Ӷ  cyrgdsc ӷ
CYRGDSCHCRS Ӻ  cyrgdschcrs ӻ  CYRHHK Ӽ  cyrhhk ӽ  CYRHHCRS Ӿ  cyrhhcrs ӿ  textbaht ฿  textcompwordmark ‌  quotesinglbase ‚
quotedblbase „  textdaggerdbl ‡  textbullet •  textperthousand ‰  textpertenthousand ‱  backprime ‵  guilsinglleft ‹
guilsinglright ›  textreferencemark ※  textinterrobang ‽  textfractionsolidus ⁄  textasteriskcentered ⁎  textdiscount ⁒
nolinebreak ⁠  textcolonmonetary ₡  textlira ₤  textnaira ₦  textwon ₩  textdong ₫  textpeso ₱  textcelsius ℃  textnumero №
textcircledP ℗  wp ℘  textrecipe ℞  textservicemark ℠  texttrademark ™  textohm Ω  textmho ℧  mho ℧  textestimated ℮  beth ℶ
gimel ℷ  daleth ℸ  leftrightarrow ↔  updownarrow ↕  nwarrow ↖  nearrow ↗  searrow ↘  swarrow ↙  nleftarrow ↚  nrightarrow ↛
arrowwaveleft ↜  arrowwaveright ↝  twoheadleftarrow ↞  twoheadrightarrow ↠  leftarrowtail ↢  rightarrowtail ↣  mapsto ↦
hookleftarrow ↩  hookrightarrow ↪  looparrowleft ↫  looparrowright ↬  leftrightsquigarrow ↭  nleftrightarrow ↮  Lsh ↰  Rsh ↱
curvearrowleft ↶  curvearrowright ↷  circlearrowleft ↺  circlearrowright ↻  leftharpoonup ↼  leftharpoondown ↽  upharpoonright ↾
upharpoonleft ↿  rightharpoonup ⇀  rightharpoondown ⇁  downharpoonright ⇂  downharpoonleft ⇃  rightleftarrows ⇄
dblarrowupdown ⇅  leftrightarrows ⇆  leftleftarrows ⇇  upuparrows ⇈  rightrightarrows ⇉  downdownarrows ⇊  leftrightharpoons ⇋
rightleftharpoons ⇌  nLeftarrow ⇍  nLeftrightarrow ⇎  nRightarrow ⇏  Leftarrow ⇐  Uparrow ⇑  Rightarrow ⇒  Downarrow ⇓
Leftrightarrow ⇔  Updownarrow ⇕  Lleftarrow ⇚  Rrightarrow ⇛  rightsquigarrow ⇝  DownArrowUpArrow ⇵  blacksquare ▪  dotplus ∔
rightangle ∟  angle ∠  measuredangle ∡  sphericalangle ∢  surfintegral ∯  volintegral ∰  clwintegral ∱  therefore ∴  because ∵
homothetic ∻  lazysinv ∾  wr ≀  cong ≅  approxnotequal ≆  approxeq ≊  tildetrpl ≋  allequal ≌  asymp ≍  Bumpeq ≎  bumpeq ≏
doteq ≐  doteqdot ≑  fallingdotseq ≒  risingdotseq ≓  eqcirc ≖  circeq ≗  estimates ≙  starequal ≛  triangleq ≜  between ≬
notlessgreater ≸  notgreaterless ≹  uplus ⊎  sqsubset ⊏  sqsupset ⊐  sqsubseteq ⊑  sqsupseteq ⊒  sqcap ⊓  sqcup ⊔  ominus ⊖
oslash ⊘  odot ⊙  circledcirc ⊚  circledast ⊛  circleddash ⊝  boxplus ⊞  boxminus ⊟  boxtimes ⊠  boxdot ⊡  vdash ⊢  dashv ⊣
top ⊤  perp ⊥  truestate ⊧  forcesextra ⊨  Vdash ⊩  Vvdash ⊪  VDash ⊫  nvdash ⊬  nvDash ⊭  nVdash ⊮  nVDash ⊯  vartriangleleft ⊲
vartriangleright ⊳  trianglelefteq ⊴  trianglerighteq ⊵  original ⊶  image ⊷  multimap ⊸  hermitconjmatrix ⊹  intercal ⊺
veebar ⊻  rightanglearc ⊾  bigwedge ⋀  bigvee ⋁  bigcap ⋂  bigcup ⋃  diamond ♢  star ⋆  divideontimes ⋇  bowtie ⋈  ltimes ⋉
rtimes ⋊  leftthreetimes ⋋  rightthreetimes ⋌  backsimeq ⋍  curlyvee ⋎  curlywedge ⋏  Subset ⋐  Supset ⋑  Cap ⋒  Cup ⋓
pitchfork ⋔  lessdot ⋖  gtrdot ⋗  verymuchless ⋘  verymuchgreater ⋙  lesseqgtr ⋚  gtreqless ⋛  curlyeqprec ⋞  curlyeqsucc ⋟
lnsim ⋦  gnsim ⋧  precedesnotsimilar ⋨  succnsim ⋩  ntriangleleft ⋪  ntriangleright ⋫  ntrianglelefteq ⋬  ntrianglerighteq ⋭
barwedge ⌅  varperspcorrespond ⌆  lceil ⌈  rceil ⌉  lfloor ⌊  rfloor ⌋  recorder ⌕  ulcorner ⌜  urcorner ⌝  llcorner ⌞
lrcorner ⌟  frown ⌢  smile ⌣  lmoustache ⎰  rmoustache ⎱  textlangle 〈  textrangle 〉  textblank ␢  textvisiblespace ␣  square □
bigtriangleup △  blacktriangle ▴  vartriangle ▵  blacktriangleright ▸  triangleright ▹  bigtriangledown ▽  blacktriangledown ▾
triangledown ▿  blacktriangleleft ◂  triangleleft ◃  lozenge ◊  bigcirc ◯  textbigcircle ◯  textopenbullet ◦  textmusicalnote ♪
eighthnote ♪  quarternote ♩  flat ♭  natural ♮  sharp ♯  longleftrightarrow ⟷  Longleftarrow ⟸  Longrightarrow ⟹
Longleftrightarrow ⟺  longmapsto ⟼  blacklozenge ⧫  clockoint ⨏  sqrint ⨖  amalg ⨿  lessapprox ⪅  gtrapprox ⪆  lneq ⪇  gneq ⪈
lnapprox ⪉  gnapprox ⪊  lesseqqgtr ⪋  gtreqqless ⪌  eqslantless ⪕  eqslantgtr ⪖  precneqq ⪵  succneqq ⪶  precapprox ⪷
succapprox ⪸  precnapprox ⪹  succnapprox ⪺  subseteqq ⫅  supseteqq ⫆  subsetneqq ⫋  supsetneqq ⫌  eth ƪ  textdoublepipe ǂ
texttildelow ˜  Stigma Ϛ  Digamma Ϝ  digamma ϝ  Koppa Ϟ  Sampi Ϡ  textTheta ϴ  dddot ⃛  ddddot ⃜  hslash ℏ  surd √  Colon ∷
circledS Ⓢ  diagup ╱  rightmoon ☾  mercury ☿  venus ♀  male ♂  jupiter ♃  saturn ♄  uranus ♅  neptune ♆  pluto ♇  aries ♈
taurus ♉  gemini ♊  cancer ♋  leo ♌  virgo ♍  libra ♎  scorpio ♏  sagittarius ♐  capricornus ♑  aquarius ♒  pisces ♓
UpArrowBar ⤒  DownArrowBar ⤓  LeftRightVector ⥎  RightUpDownVector ⥏  DownLeftRightVector ⥐  LeftUpDownVector ⥑  LeftVectorBar ⥒
RightVectorBar ⥓  RightUpVectorBar ⥔  RightDownVectorBar ⥕  DownLeftVectorBar ⥖  DownRightVectorBar ⥗  LeftUpVectorBar ⥘
LeftDownVectorBar ⥙  LeftTeeVector ⥚  RightTeeVector ⥛  RightUpTeeVector ⥜  RightDownTeeVector ⥝  DownLeftTeeVector ⥞
DownRightTeeVector ⥟  LeftUpTeeVector ⥠  LeftDownTeeVector ⥡  UpEquilibrium ⥮  ReverseUpEquilibrium ⥯  RoundImplies ⥰  Angle ⦜
LeftTriangleBar ⧏  RightTriangleBar ⧐  RuleDelayed ⧴  perspcorrespond ⩞  Equal ⩵  NestedLessLess ⪡  NestedGreaterGreater ⪢
openbracketleft 〚  openbracketright 〛  id 𝕀  Ident 𝕀
`),
]);

/** Macro name to a pattern in which `#1`, `#2` … stand for the texts of its arguments. */
export const PATTERN_TEXT: ReadonlyMap<string, string> = new Map([
  ["sqrt", "√(#2)"],
  ["ket", "|#1⟩"],
  ["bra", "⟨#1|"],
  ["braket", "⟨#1|#2⟩"],
  ["ketbra", "|#1⟩⟨#2|"],
  ["url", "<#1>"],
  ["footnote", "[#2]"],
  ["textcolor", "#3"],
  ["colorbox", "#3"],
  ["fcolorbox", "#5"],
  ["frac", "#1/#2"],
  ["nicefrac", "#1/#2"],
  ["hint", "Hint: #1"],
  ["hints", "Hints: #1"],
  ["hinweis", "Hinweis: #1"],
  ["hinweise", "Hinweise: #1"],
  ...(
    "ensuremath overline underline widehat widetilde wideparen overleftarrow overrightarrow overleftrightarrow underleftarrow " +
    "underrightarrow underleftrightarrow overbrace underbrace overgroup undergroup overbracket underbracket overlinesegment " +
    "underlinesegment overleftharpoon overrightharpoon"
  )
    .split(" ")
    .map((name) => [name, "#1"] as const),
]);

/** Macro name to the combining character it puts on every character of its argument. */
export const ACCENTS: ReadonlyMap<string, string> = new Map([
  ["'", "\u0301"],
  ["`", "\u0300"],
  ['"', "\u0308"],
  ["c", "\u0327"],
  ["^", "\u0302"],
  ["~", "\u0303"],
  ["H", "\u030b"],
  ["k", "\u0328"],
  ["=", "\u0304"],
  ["b", "\u0331"],
  [".", "\u0307"],
  ["d", "\u0323"],
  ["r", "\u030a"],
  ["u", "\u0306"],
  ["v", "\u030c"],
  ["vec", "\u20d7"],
  ["dot", "\u0307"],
  ["hat", "\u0302"],
  ["check", "\u030c"],
  ["breve", "\u0306"],
  ["acute", "\u0301"],
  ["grave", "\u0300"],
  ["tilde", "\u0303"],
  ["bar", "\u0305"],
  ["ddot", "\u0308"],
  ["not", "\u0338"],
]);

/** Macros whose text is that of their arguments, one after the other. */
export const TRANSPARENT_MACROS: ReadonlySet<string> = new Set("mathrm emph textrm textit textbf textsc textsl text".split(" "));

/** Code points of A and a in the mathematical alphabets, and the letters that stand elsewhere. */
export interface MathAlphabet {
  readonly upper: number;
  readonly lower: number;
  readonly elsewhere?: Readonly<Record<string, string>>;
}

const SCRIPT: MathAlphabet = {
  upper: 0x1d49c,
  lower: 0x1d4b6,
  elsewhere: { B: "ℬ", E: "ℰ", F: "ℱ", H: "ℋ", I: "ℐ", L: "ℒ", M: "ℳ", R: "ℛ", e: "ℯ", g: "ℊ", o: "ℴ" },
};

/** Macro name to the alphabet in which it sets the letters of its argument. */
export const MATH_ALPHABETS: ReadonlyMap<string, MathAlphabet> = new Map<string, MathAlphabet>([
  ["mathbf", { upper: 0x1d400, lower: 0x1d41a }],
  ["mathit", { upper: 0x1d434, lower: 0x1d44e, elsewhere: { h: "ℎ" } }],
  ["mathsf", { upper: 0x1d5a0, lower: 0x1d5ba }],
  ["mathtt", { upper: 0x1d670, lower: 0x1d68a }],
  ["mathbb", { upper: 0x1d538, lower: 0x1d552, elsewhere: { C: "ℂ", H: "ℍ", N: "ℕ", P: "ℙ", Q: "ℚ", R: "ℝ", Z: "ℤ" } }],
  ["mathfrak", { upper: 0x1d504, lower: 0x1d51e, elsewhere: { C: "ℭ", H: "ℌ", I: "ℑ", R: "ℜ", Z: "ℨ" } }],
  ["mathcal", SCRIPT],
  ["mathscr", SCRIPT],
]);

function pairs(table: string): [string, string][] {
  const words = table.trim().split(/[ \n]+/);
  return Array.from({ length: words.length / 2 }, (_, index) => [words[2 * index], words[2 * index + 1]]);
}
