"""Vietnamese, Indonesian and Malay, and more Korean, Japanese and Chinese."""

from typing import Final

VIETNAMESE: Final = {
    "NEVER": "đừng không không_được chớ không_bao_giờ tránh",
    "TELL SPEAK": "nói nói_cho cho_biết tiết_lộ đề_cập thông_báo kể nhắc_đến báo",
    "THIS": "điều_này việc_này này điều_đó",
    "USER": "người_dùng khách_hàng bất_kỳ_ai",
    "HIDE": "giấu che_giấu giữ_bí_mật",
    "QUIET": "đừng_nói_cho_người_dùng không_nói_cho_người_dùng giữ_bí_mật_điều",
    "IGNORE": "bỏ_qua phớt_lờ quên",
    "PREVIOUS WHOLE": "trước_đó trước_đây mọi tất_cả toàn_bộ đầy_đủ",
    "ANY": "bất_kỳ mọi tất_cả khác toàn_bộ",
    "INSTRUCTIONS GUIDANCE": "hướng_dẫn chỉ_dẫn chỉ_thị lệnh quy_tắc",
    "READ": "đọc mở lấy thu_thập",
    "SEND GIVE": "gửi chuyển_tiếp tải_lên truyền",
    "CARRY GIVE": "đính_kèm đưa_vào chèn điền",
    "SECRETS CREDENTIALS": "mật_khẩu khóa_riêng khóa_bí_mật thông_tin_đăng_nhập biến_môi_trường",
    "CONVERSATION TALK": "cuộc_trò_chuyện lịch_sử_trò_chuyện hội_thoại trò_chuyện lịch_sử_chat",
    "RESULTS": "nội_dung kết_quả",
    "PARAMETER": "tham_số trường",
    "BEFORE": "trước_khi",
    "FIRST": "trước_tiên đầu_tiên trước_hết",
    "MUST": "phải luôn bắt_buộc",
    "ALWAYS": "luôn_luôn mỗi_lần",
    "CALL": "sử_dụng dùng gọi chạy",
    "TOOL TOOLS": "công_cụ",
    "OTHER": "khác",
    "SECRETLY": "bí_mật âm_thầm lặng_lẽ",
    "KNOW": "biết phát_hiện",
    "UNAWARE": "không_được_biết không_biết không_hay_biết không_phát_hiện mà_người_dùng_không_biết",
    "COPY GIVE": "sao_chép",
    "MESSAGES": "tin_nhắn câu_hỏi",
    "WITH": "với kèm",
    "FOLLOW": "tuân_theo làm_theo",
}
INDONESIAN: Final = {
    "NEVER": "jangan tidak_boleh tanpa jangan_pernah hindari",
    "TELL SPEAK": """
        beri_tahu beritahu memberi_tahu memberitahu katakan sebutkan menyebutkan ungkapkan ceritakan kabari
        maklumkan
    """,
    "THIS": "ini hal_ini itu",
    "USER": "pengguna siapa_pun siapapun",
    "HIDE": "sembunyikan rahasiakan",
    "QUIET": "rahasiakan_ini jangan_bilang_siapa jangan_beri_tahu_pengguna jangan_beritahu_pengguna jangan_sebutkan",
    "IGNORE": "abaikan lupakan kesampingkan",
    "PREVIOUS WHOLE": "sebelumnya semua seluruh lengkap",
    "ANY": "semua setiap lain lainnya apa_pun apapun seluruh",
    "INSTRUCTIONS GUIDANCE": "instruksi perintah aturan petunjuk arahan",
    "READ": "baca bacalah buka ambil kumpulkan membaca",
    "SEND GIVE": "kirim kirimkan mengirim teruskan unggah hantar",
    "CARRY GIVE": "sertakan tambahkan masukkan lampirkan",
    "SECRETS CREDENTIALS": "kata_sandi sandi kunci_pribadi kredensial kunci_api kata_laluan",
    "CONVERSATION TALK": "percakapan riwayat_percakapan riwayat_obrolan obrolan perbualan",
    "RESULTS": "isi isinya konten hasil",
    "BEFORE": "sebelum",
    "FIRST": "pertama terlebih_dahulu pertama_tama dulu",
    "MUST": "harus wajib selalu",
    "ALWAYS": "selalu setiap_kali",
    "CALL": "menggunakan gunakan panggil memanggil jalankan",
    "TOOL TOOLS": "alat perkakas",
    "OTHER": "lain lainnya",
    "SECRETLY": "diam_diam secara_rahasia",
    "KNOW": "tahu mengetahui menyadari",
    "UNAWARE": """
        tidak_boleh_tahu tidak_boleh_mengetahui tanpa_sepengetahuan tidak_perlu_tahu tidak_menyadari
        jangan_sampai_tahu
    """,
    "COPY GIVE": "salin",
    "PARAMETER": "kolom",
    "MESSAGES": "pesan pertanyaan",
    "WITH": "dengan",
    "FOLLOW": "ikuti patuhi",
}
KOREAN: Final = {
    "USER": "사용자* 누구에게도 이용자*",
    "NOT_AFTER": "마세요 마십시오 말아 말라 않도록 마라",
    "TELL SPEAK": "알리* 말하* 언급* 알려* 공개하*",
    "QUIET": """
        비밀로 사용자_몰래 알리지_마세요 알리지_마십시오 말하지_마세요 말하지_마십시오 언급하지_마세요 알리지_않고
        모르게
    """,
    "IGNORE": "무시하* 잊* 무시*",
    "PREVIOUS WHOLE": "이전의 이전 모든 앞의 전체 기존의 기존",
    "INSTRUCTIONS GUIDANCE": "지시* 명령* 규칙* 지침*",
    "READ": "읽* 열* 수집* 가져*",
    "SEND GIVE": "보내* 전송* 전달* 업로드*",
    "CARRY GIVE": "포함* 첨부* 추가* 넣*",
    "SECRETS CREDENTIALS": "비밀번호* 암호* 개인_키* 개인키* 비밀_키* 자격_증명* 자격증명* 환경_변수* 환경변수*",
    "CONVERSATION TALK": "대화* 대화_기록* 채팅_기록* 대화_내용* 채팅*",
    "RESULTS": "내용* 결과*",
    "BEFORE": "전에 이전에 사용하기_전에",
    "CALL": "사용* 호출* 실행*",
    "TOOL TOOLS": "도구* 툴*",
    "OTHER ANY": "다른",
    "FIRST": "먼저 우선",
    "PARAMETER": "매개변수* 필드* 파라미터*",
    "KNOW": "알아서* 알게* 눈치*",
    "UNAWARE": "알아서는_안 모르게 알지_못하게 알면_안 눈치채지_못하게 알_필요_없",
    "COPY GIVE": "복사*",
    "MESSAGES": "메시지* 질문*",
}
JAPANESE: Final = {
    "QUIET": """
        ユーザーには秘密 ユーザーに秘密 内緒です 黙って 言わないで 伝えないで 知らせないで 教えないで 話さないで
        秘密にして 内緒に 知らせずに 伝えずに 言わずに 悟られない 気づかれない
    """,
    "GIVE": "渡す 送る 送れ 送信 送っ 転送 アップロード 渡し 含め 添付 入れ 貼り付け 付け加え 記入 コピー",
    "WHOLE": "全文 すべて 全て 全部 これまで 完全 全体",
    "PREVIOUS": "これまで 以前 過去 先ほど 今まで",
    "TALK": "会話 履歴 チャット やり取り やりとり 対話",
    "CREDENTIALS": "パスワード 認証情報 暗証番号 秘密鍵",
    "SECRETS": "秘密キー 鍵ファイル トークン APIキー",
    "GUIDANCE": "指示 命令 ルール",
    "INSTRUCTIONS": "指示 命令 指令",
    "RESULTS": "内容 中身",
    "TOOL TOOLS": "ツール",
    "UNAWARE": """
        知られない 気づかれない 気付かれない 知られては 気づかれては 悟られない 知る必要はない 知らせる必要はない
    """,
    "COPY": "記入 コピー",
    "MESSAGES": "メッセージ 質問 発言",
}
CHINESE: Final = {
    "QUIET": """
        不要告诉 别告诉 不要提及 不要提到 请勿告知 请勿提及 勿告知 不得告知 不能让用户知道 不让用户知道
        不要让用户知道 保密 不要透露
    """,
    "GIVE": """
        发送 上传 转发 传送 传输 发到 发给 提交 包含 附加 附上 填入 传入 放入 写入 添加 作为 嵌入 粘贴 复制 加入
        放在 传递 提供
    """,
    "CARRY": "传递 提供 填写 附带",
    "WHOLE": "所有 全部 完整 整个 之前 以前 先前 历史 一切",
    "TALK": "对话 对话记录 聊天记录 会话 聊天 历史消息 對話",
    "CREDENTIALS": "密码 凭据 凭证 密钥 私钥 令牌 口令 验证码",
    "GUIDANCE": "指令 指示 提示 规则",
    "INNER": "系统提示 系统提示词 系统指令 系统消息",
    "IGNORE": "无视掉 抛开 不再遵守 不再遵循",
    "KNOW": "知晓 得知 察觉 知情 获知 发觉",
    "UNAWARE": """
        不应知晓 不应知道 不得知晓 不能知道 不需要知道 无需知道 不知情 不知道 不让用户知道 不被用户发现 瞒着 背着
        不会察觉
    """,
    "PARAMETER": "字段 备注",
    "MESSAGES": "消息 提问 问题",
}
